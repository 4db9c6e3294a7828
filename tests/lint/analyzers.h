/* Put before each file by the analyzers, which see one file at a time: what others return always.
 */
#pragma once

#include "base/error.h"

#define error_set(...) ((void)error_set(__VA_ARGS__), -1)
#define error_set_os(...) ((void)error_set_os(__VA_ARGS__), -1)
#define error_prefix(...) ((void)error_prefix(__VA_ARGS__), -1)
#define error_hint(...) ((void)error_hint(__VA_ARGS__), -1)
