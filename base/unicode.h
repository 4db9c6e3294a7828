/* Encodes single characters. The functions for whole texts are in base/text.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Writes a character as UTF-8 without a NUL and returns the number of bytes. */
size_t unicode_encode(uint32_t code, char out[4]);
