#include <stdint.h>

// Foundation contains ICU with 34 MB of data: names of languages, currencies and time zones, sort orders, converters. The daemon uses
// none of them. It contains Foundation because the packages for SQLite and YAML need it. They use only ICU's regular expressions, whose
// tables are code. URLs are ASCII (`Issuer.init`), so no host name needs ICU's Punycode.
//
// So in a release build, which links Foundation statically, this replaces the data by a table of contents without entries, like ICU's
// own `stubdata`. The linker finds this symbol before the one in Foundation's library. The symbol's name contains ICU's version. With
// another version, nothing refers to this symbol, and the program contains the data again.
#ifdef AUTHREFRESH_NO_ICU_DATA
struct data_info {
    uint16_t size, reserved;
    uint8_t is_big_endian, charset_family, size_of_character, reserved_byte;
    uint8_t format[4], format_version[4], version[4];
};

struct {
    uint16_t header_size;
    uint8_t magic[2];
    struct data_info info;
    uint8_t padding[8];
    uint32_t count, reserved;
} icudt76_dat __attribute__((aligned(16))) = {
    .header_size = 32,
    .magic = {0xda, 0x27},
    .info =
        {
            .size = sizeof(struct data_info),
            .size_of_character = 2,
            .format = {'T', 'o', 'C', 'P'},
            .format_version = {1},
        },
};
#endif
