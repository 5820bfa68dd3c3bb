/* SPDX-License-Identifier: Apache-2.0 */
/* Run ids, times and file names of the log. Times are computed here: gmtime_r would read the time
 * zone of the machine at every launch. */
#include "common/record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"

enum { MS_PER_S = 1000, S_PER_DAY = 86400 };

const char record_no_hash[SHA256_HEX + 1] = "0000000000000000000000000000000000000000000000000000000000000000";

int record_new_id(struct timespec now, char id[RECORD_ID + 1])
{
	uint64_t ms = (uint64_t)now.tv_sec * MS_PER_S + (uint64_t)now.tv_nsec / 1000000;
	unsigned char bytes[16];
	char hex[2 * sizeof bytes + 1];

	if (getentropy(bytes, sizeof bytes) < 0)
		return -1;
	for (size_t i = 0; i < 6; i++)
		bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
	bytes[6] = (unsigned char)(0x70 | (bytes[6] & 0x0f));
	bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3f));
	text_hex(bytes, sizeof bytes, hex);
	snprintf(id, RECORD_ID + 1, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
	return 0;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool record_is_id(const char *bytes, size_t length, uint64_t *ms)
{
	uint64_t time = 0;
	if (length != RECORD_ID)
		return false;
	for (size_t i = 0; i < RECORD_ID; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (is_dash ? bytes[i] != '-' : digit(bytes[i]) < 0)
			return false;
		if (i < 13 && !is_dash)
			time = time << 4 | (uint64_t)digit(bytes[i]);
	}
	if (bytes[14] != '7')
		return false;
	if (ms)
		*ms = time;
	return true;
}

bool record_is_month(const char *name)
{
	for (size_t i = 0; i < RECORD_MONTH; i++)
		if (i == 4 ? name[i] != '-' : name[i] < '0' || name[i] > '9')
			return false;
	return name[RECORD_MONTH] == '\0';
}

/* The civil date of a day since 1970, by H. Hinnant's algorithm. */
static void date_of(int64_t day, int *year, unsigned *month, unsigned *of_month)
{
	int64_t shifted = day + 719468; /* from 0000-03-01 */
	int64_t era = shifted / 146097;
	unsigned of_era = (unsigned)(shifted - era * 146097);
	unsigned years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * years + years / 4 - years / 100);
	unsigned shifted_month = (5 * of_year + 2) / 153;

	*of_month = of_year - (153 * shifted_month + 2) / 5 + 1;
	*month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
	*year = (int)((int64_t)years + era * 400) + (*month <= 2);
}

static int64_t day_of(int64_t year, unsigned month, unsigned of_month)
{
	int64_t from = month <= 2 ? year - 1 : year, era = from / 400;
	unsigned of_era = (unsigned)(from - era * 400);
	unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + of_month - 1;
	return era * 146097 + (int64_t)(of_era * 365 + of_era / 4 - of_era / 100 + of_year) - 719468;
}

void record_month(uint64_t ms, char month[RECORD_MONTH + 1])
{
	unsigned number, of_month;
	int year;
	date_of((int64_t)(ms / MS_PER_S / S_PER_DAY), &year, &number, &of_month);
	snprintf(month, RECORD_MONTH + 1, "%04u-%02u", (unsigned)year % 10000, number % 100);
}

void record_time(struct timespec time, char text[RECORD_TIME + 1])
{
	int64_t seconds = time.tv_sec < 0 ? 0 : time.tv_sec;
	unsigned month, of_month, of_day = (unsigned)(seconds % S_PER_DAY);
	int year;
	date_of(seconds / S_PER_DAY, &year, &month, &of_month);
	snprintf(text, RECORD_TIME + 1, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ", (unsigned)year % 10000, month % 100,
		 of_month % 100, of_day / 3600 % 100, of_day / 60 % 60, of_day % 60, (unsigned)(time.tv_nsec / 1000) % 1000000);
}

int64_t record_time_ms(const char *text)
{
	static const char form[] = "0000-00-00T00:00:00.000000Z";
	unsigned parts[7] = { 0 };
	size_t part = 0;

	for (size_t i = 0; i < RECORD_TIME; i++) {
		if (form[i] != '0') {
			if (text[i] != form[i])
				return -1;
			part++;
			continue;
		}
		if (text[i] < '0' || text[i] > '9')
			return -1;
		parts[part] = parts[part] * 10 + (unsigned)(text[i] - '0');
	}
	if (text[RECORD_TIME] != '\0' || parts[0] < 1970 || parts[1] < 1 || parts[1] > 12)
		return -1;
	return ((day_of(parts[0], parts[1], parts[2]) * 24 + parts[3]) * 60 + parts[4]) * 60 * MS_PER_S +
	       (int64_t)parts[5] * MS_PER_S + parts[6] / 1000;
}

void record_hash(const char *line, size_t length, char hash[SHA256_HEX + 1])
{
	struct sha256 state;
	sha256_start(&state);
	sha256_add(&state, line, length);
	sha256_finish_hex(&state, hash);
}

int record_open_file(int directory, const char *name, int flags)
{
	mode_t mask = umask(077);
	autoclose int fd = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	struct stat info;

	umask(mask);
	if (fd < 0 || fstat(fd, &info) < 0)
		return -1;
	if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
		errno = EPERM;
		return -1;
	}
	return steal_fd(&fd);
}
