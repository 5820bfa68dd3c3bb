/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the paths that FSEvents reports for / during three seconds. For script/macos-live; never
 * compiled or run yet. */
#include <CoreServices/CoreServices.h>
#include <stdio.h>

static void report(ConstFSEventStreamRef stream, void *context, size_t count, void *paths,
		   const FSEventStreamEventFlags flags[], const FSEventStreamEventId ids[])
{
	char **names = paths;

	(void)stream, (void)context, (void)flags, (void)ids;
	for (size_t i = 0; i < count; i++)
		puts(names[i]);
	fflush(stdout);
}

int main(void)
{
	CFStringRef root = CFSTR("/");
	CFArrayRef roots = CFArrayCreate(NULL, (const void **)&root, 1, NULL);
	FSEventStreamRef stream = FSEventStreamCreate(NULL, report, NULL, roots, kFSEventStreamEventIdSinceNow, 0.1,
						      kFSEventStreamCreateFlagFileEvents);

	if (!stream)
		return 1;
	FSEventStreamScheduleWithRunLoop(stream, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode);
	if (!FSEventStreamStart(stream))
		return 1;
	CFRunLoopRunInMode(kCFRunLoopDefaultMode, 3, false);
	return 0;
}
