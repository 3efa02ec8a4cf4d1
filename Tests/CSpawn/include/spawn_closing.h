#pragma once

#include <spawn.h>
#include <sys/fsuid.h>

/// Has a spawned program start without the descriptors from `lowest` on.
///
/// Returns 0, or the error number. glibc's own call for it is not among what Swift imports.
int close_from(posix_spawn_file_actions_t *actions, int lowest);
