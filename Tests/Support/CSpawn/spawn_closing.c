#include "spawn_closing.h"

// In glibc since 2.34. Its header declares it only if _DEFAULT_SOURCE is defined, which has no effect on a header that
// comes as a module.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int lowest);

int close_from(posix_spawn_file_actions_t *actions, int lowest) {
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}
