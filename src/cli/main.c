/* main.c: the binary. All that happens is in cli.c, which user programs share. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return hf_cli_main(argc, argv);
}
