/* assets.h - the look and the script of every page, and what the live page adds, from
 * src/report/assets, as bytes of the program (cmake/assets.cmake). The files of a page's script
 * share one scope, in the order of that file. */
#ifndef TSRI_ASSETS_H
#define TSRI_ASSETS_H

#include <stddef.h>

extern const unsigned char tsri_asset_css[], tsri_asset_js[], tsri_asset_live[];
extern const size_t tsri_asset_css_size, tsri_asset_js_size, tsri_asset_live_size;

#endif
