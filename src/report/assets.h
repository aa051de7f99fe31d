/* assets.h - the look and the script of every page, from src/report/assets, as bytes of the program
 * (cmake/assets.cmake). The files of the script share one scope, in the order of that file. */
#ifndef TSRI_ASSETS_H
#define TSRI_ASSETS_H

#include <stddef.h>

extern const unsigned char tsri_asset_css[], tsri_asset_js[];
extern const size_t tsri_asset_css_size, tsri_asset_js_size;

#endif
