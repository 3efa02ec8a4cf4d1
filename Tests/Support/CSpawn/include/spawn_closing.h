#pragma once

#include <spawn.h>
#include <sys/fsuid.h>

/// Makes a spawned program start without the descriptors from `lowest` on.
///
/// Returns 0, or the error number. Swift does not import glibc's own function for it.
int close_from(posix_spawn_file_actions_t *actions, int lowest);
