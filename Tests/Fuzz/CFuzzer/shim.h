// libFuzzer's way in (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library); its library has no header of its own.
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
