/* Whether an image's containers run on a build of Windows, and which other tag's would. */
#pragma once

#include "join/join.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/image.h"

enum image_fit { IMAGE_UNFIT, IMAGE_FITS, IMAGE_UNKNOWN };

/* By what is known of it; build 0: not known. */
enum image_fit image_fit(const struct image_facts *facts, unsigned build);
/* The same of a registry's, and ret is filled (image_facts_free()). docker.io is not asked: its
 * registry has another name. What the registry failed with is in err, which says nothing else. */
enum image_fit image_fit_ask(const struct mirror *from, const char *image, unsigned build,
                             struct image_facts *ret, struct error *err);
/* The same name with the tag of this build, where tags differ in that alone: "...:ltsc2022". NULL:
 * it has no such tag, or it is for this build already. The caller frees. */
char *image_for_build(const char *image, unsigned build);
/* The same where the registry has it and it fits. */
char *image_for_build_ask(const struct mirror *from, const char *image, unsigned build);

/* Of the open bundle's, by the beginning of its archive. One that begins otherwise than those of
 * image_fetch() is not understood: its import says what is wrong. */
enum image_fit bundle_image_fit(struct join *join, const struct artifact *image,
                                struct image_facts *ret);
/* ERROR_PREFLIGHT: an image of the open bundle (none: 0), or its sandbox image, is not for this
 * build; with the command that makes another. */
int bundle_images_check(struct join *join, struct error *err);
