/* CRC32C and the digests against published answers, and the two ways of computing the CRC against
 * each other. */
#include "testing.h"

#include "base/rng.h"
#include "io/crc32c.h"
#include "io/digest.h"

/* RFC 3720, appendix B.4, and the check value of the catalogues. */
static void known_answers(void **state)
{
    (void)state;
    unsigned char zeros[32] = {0}, ones[32], up[32], down[32];
    memset(ones, 0xff, sizeof ones);
    for (int i = 0; i < 32; i++) {
        up[i] = (unsigned char)i;
        down[i] = (unsigned char)(31 - i);
    }
    uint32_t (*const way[])(uint32_t, const void *, size_t) = {tsri_crc32c, tsri_crc32c_tables};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(way[i](0, "123456789", 9), 0xE3069283);
        assert_int_equal(way[i](0, zeros, 32), 0x8A9136AA);
        assert_int_equal(way[i](0, ones, 32), 0x62A8AB43);
        assert_int_equal(way[i](0, up, 32), 0x46DD794E);
        assert_int_equal(way[i](0, down, 32), 0x113FDB5C);
        assert_int_equal(way[i](0, "", 0), 0);
    }
}

/* Every start alignment, every length to 200, cut in two at every place. */
static void both_ways_agree(void **state)
{
    (void)state;
    unsigned char bytes[256];
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 0, 0, 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)tsri_rng_u32(&rng);
    for (size_t start = 0; start < 16; start++) {
        for (size_t n = 0; n < 200; n++) {
            uint32_t whole = tsri_crc32c(0, bytes + start, n);
            assert_int_equal(whole, tsri_crc32c_tables(0, bytes + start, n));
            for (size_t cut = 0; cut <= n; cut += 7)
                assert_int_equal(whole, tsri_crc32c(tsri_crc32c_tables(0, bytes + start, cut),
                                                    bytes + start + cut, n - cut));
        }
    }
}

static void digests(void **state)
{
    (void)state;
    char sha[TSRI_SHA256_HEX], git[TSRI_SHA1_HEX];
    assert_ok(tsri_sha256(sha, "abc", 3)); /* FIPS 180-4 */
    assert_string_equal(sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_ok(tsri_sha256(sha, "", 0));
    assert_string_equal(sha, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_ok(tsri_git_blob(git, "", 0)); /* git hash-object /dev/null */
    assert_string_equal(git, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    assert_ok(tsri_git_blob(git, "test content\n", 13)); /* the Git book, chapter 10.2 */
    assert_string_equal(git, "d670460b4b4aece5915caf5c68d12f560a9fe3e4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(digests),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
