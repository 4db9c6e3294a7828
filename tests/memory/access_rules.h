/* What Windows makes of access lists: what is inherited, and who may do what then. */
#pragma once

#include "host/access_list.h"

/* Adds to `list` what a file or folder in a folder with that list inherits, unless it is protected;
 * CREATOR OWNER becomes the owner of `list`. */
void access_list_inherit(struct access_list *list, bool folder, const struct access_list *above);

/* The rights that the list gives to somebody with these SIDs (`sids` ends with NULL), among them
 * those of an owner: to read the list and to change it. */
uint32_t access_list_rights(const struct access_list *list, const char *const *sids);
