/* SPDX-License-Identifier: Apache-2.0 */
/* The times of struct stat under one name on every system. */
#ifndef BERM_COMMON_BASE_FILE_TIME_H
#define BERM_COMMON_BASE_FILE_TIME_H

#include <sys/stat.h>

#ifdef __APPLE__
#define st_ctim st_ctimespec
#define st_mtim st_mtimespec
#endif

#endif
