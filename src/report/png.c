/* png.c - a picture in points from one in lines: librsvg and cairo, behind this header. */
#include "report/png.h"

#ifdef TESSERA_RSVG

#include <cairo.h>
#include <librsvg/rsvg.h>

#include <math.h>

/* Under the sanitizer: pango keeps its fonts, and fontconfig what it read of them, to the end of
 * the process; there is no call that gives all of it back. Nothing of ours is meant. */
#ifdef __SANITIZE_ADDRESS__
TSR_API const char *__lsan_default_suppressions(void);
TSR_API const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig.so\n";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif

bool tsri_png_available(void)
{
    return true;
}

static cairo_status_t take(void *context, const unsigned char *bytes, unsigned int n)
{
    return tsri_text_add_bytes(context, (const char *)bytes, n) == TSR_OK
               ? CAIRO_STATUS_SUCCESS
               : CAIRO_STATUS_WRITE_ERROR;
}

static tsr_status draw(cairo_t *cairo, RsvgHandle *handle, double width, double height)
{
    tsr_status st = TSR_OK;
    GError *error = NULL;
    RsvgRectangle all = {0, 0, width, height};
    TSR_CHECK(rsvg_handle_render_document(handle, cairo, &all, &error), TSR_FAILURE,
              "librsvg cannot draw the picture: %s",
              error ? tsri_quote(error->message) : "it does not say why");
    TSR_CHECK(cairo_status(cairo) == CAIRO_STATUS_SUCCESS, TSR_RESOURCES,
              "cairo cannot draw the picture: %s", cairo_status_to_string(cairo_status(cairo)));
done:
    if (error)
        g_error_free(error);
    return st;
}

tsr_status tsri_png_from_svg(tsri_text *png, const tsri_text *svg, double scale)
{
    tsr_status st = TSR_OK;
    cairo_surface_t *surface = NULL;
    cairo_t *cairo = NULL;
    GError *error = NULL;
    double width = 0, height = 0;
    RsvgHandle *handle =
        rsvg_handle_new_from_data((const guint8 *)svg->data, (gsize)svg->length, &error);
    TSR_CHECK(handle, TSR_FAILURE, "librsvg cannot read the picture: %s",
              error ? tsri_quote(error->message) : "it does not say why");
    TSR_CHECK(rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height), TSR_FAILURE,
              "the picture does not say how large it is");
    width = ceil(width * scale);
    height = ceil(height * scale);
    surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)width, (int)height);
    cairo = cairo_create(surface);
    TSR_TRY(draw(cairo, handle, width, height));
    TSR_CHECK(cairo_surface_write_to_png_stream(surface, take, png) == CAIRO_STATUS_SUCCESS,
              TSR_RESOURCES, "cairo cannot write a PNG of %.0f x %.0f points", width, height);
done:
    if (cairo)
        cairo_destroy(cairo);
    if (surface)
        cairo_surface_destroy(surface);
    if (handle)
        g_object_unref(handle);
    if (error)
        g_error_free(error);
    return st;
}

#else

bool tsri_png_available(void)
{
    return false;
}

tsr_status tsri_png_from_svg(tsri_text *png, const tsri_text *svg, double scale)
{
    (void)png;
    (void)svg;
    (void)scale;
    return tsri_fail(TSR_FAILURE, "this program was built without librsvg and writes no PNG: "
                                  "install librsvg2-dev and build again");
}

#endif
