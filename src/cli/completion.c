/* completion.c: the verb completion. Scripts are made from the table and contain no logic of their
   own, so that they cannot know other commands than the binary does. Texts of the table must not
   contain a single quote or a bracket; tests hold them to that. */
#include <string.h>

#include "cli/complete.h"
#include "cli/verbs.h"

/* The values of an argument, written with a space after each. */
static void choices_write(FILE *out, const char *choices)
{
    const hf_cli_command *command;

    if (strcmp(choices, "COMMAND") != 0) {
        (void)fprintf(out, "%s ", choices);
        return;
    }
    for (size_t i = 0; (command = hf_cli_command_at(i)); i++)
        (void)fprintf(out, "%s ", command->name);
}

/* The values of a flag that has choices; of --output those that `command` can print. */
static void values_write(FILE *out, const hf_cli_command *command, hf_cli_flag_id id)
{
    if (id != HF_CLI_FLAG_OUTPUT) {
        (void)fprintf(out, "%s", hf_cli_flag_at(id)->choices);
        return;
    }
    for (int format = 0, count = 0; format < HF_CLI_FORMAT_COUNT; format++)
        if (command->formats & 1U << format)
            (void)fprintf(out, "%s%s", count++ ? " " : "",
                          hf_cli_format_text((hf_cli_format)format));
}

static void bash_command(FILE *out, const hf_cli_command *command)
{
    (void)fprintf(out, "    %s)\n        case $previous in\n", command->name);
    for (int i = 0; i < HF_CLI_FLAG_COUNT; i++) {
        const hf_cli_flag *flag = hf_cli_flag_at((hf_cli_flag_id)i);

        if (!flag->value || !hf_cli_command_takes(command, (hf_cli_flag_id)i))
            continue;
        (void)fprintf(out, "        --%s", flag->name);
        if (flag->letter)
            (void)fprintf(out, "|-%c", flag->letter);
        (void)fputs(flag->choices ? ") words='" : ") words=", out);
        if (flag->choices)
            values_write(out, command, (hf_cli_flag_id)i);
        (void)fputs(flag->choices ? "' ;;\n" : " ;;\n", out);
    }
    (void)fputs("        *) words='", out);
    for (const hf_cli_arg *arg = command->args; arg->name; arg++)
        if (arg->choices)
            choices_write(out, arg->choices);
    for (int i = 0; i < HF_CLI_FLAG_COUNT; i++)
        if (hf_cli_command_takes(command, (hf_cli_flag_id)i))
            (void)fprintf(out, "--%s ", hf_cli_flag_at((hf_cli_flag_id)i)->name);
    (void)fputs("' ;;\n        esac ;;\n", out);
}

static void bash_write(FILE *out)
{
    const hf_cli_command *command;

    (void)fputs("# Completion of holdfast for bash.\n"
                "_holdfast() {\n"
                "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    local words=\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        words='",
                out);
    choices_write(out, "COMMAND");
    (void)fputs("'\n    else\n    case ${COMP_WORDS[1]} in\n", out);
    for (size_t i = 0; (command = hf_cli_command_at(i)); i++)
        bash_command(out, command);
    (void)fputs("    esac\n    fi\n"
                "    if [ -z \"$words\" ] || [ \"${current#-}\" = \"$current\" ] && "
                "[ \"$COMP_CWORD\" -gt 1 ]; then\n"
                "        words=\"$words $(holdfast completion words -- "
                "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\"\n"
                "    fi\n"
                "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                "}\n"
                "complete -o default -F _holdfast holdfast\n",
                out);
}

static void zsh_command(FILE *out, const hf_cli_command *command)
{
    (void)fprintf(out, "    %s)\n        _arguments", command->name);
    for (int i = 0; i < HF_CLI_FLAG_COUNT; i++) {
        const hf_cli_flag *flag = hf_cli_flag_at((hf_cli_flag_id)i);

        if (!hf_cli_command_takes(command, (hf_cli_flag_id)i))
            continue;
        for (int letter = 0; letter <= (flag->letter != 0); letter++) {
            if (letter)
                (void)fprintf(out, " \\\n            '-%c[%s]", flag->letter, flag->sentence);
            else
                (void)fprintf(out, " \\\n            '--%s[%s]", flag->name, flag->sentence);
            if (flag->value)
                (void)fprintf(out, ":%s:%s", flag->value, flag->choices ? "(" : "_files");
            if (flag->choices)
                values_write(out, command, (hf_cli_flag_id)i);
            (void)fputs(flag->choices ? ")'" : "'", out);
        }
    }
    for (const hf_cli_arg *arg = command->args; arg->name; arg++) {
        (void)fprintf(out, " \\\n            ':%s:%s", arg->name, arg->choices ? "(" : "_files'");
        if (arg->choices) {
            choices_write(out, arg->choices);
            (void)fputs(")'", out);
        }
    }
    (void)fputs(" ;;\n", out);
}

static void zsh_write(FILE *out)
{
    const hf_cli_command *command;

    (void)fputs("#compdef holdfast\n_holdfast() {\n    local -a commands=(\n", out);
    for (size_t i = 0; (command = hf_cli_command_at(i)); i++)
        (void)fprintf(out, "        '%s:%s'\n", command->name, command->summary);
    (void)fputs("    )\n    if (( CURRENT == 2 )); then\n"
                "        _describe command commands\n        return\n    fi\n"
                "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
                "    case $verb in\n",
                out);
    for (size_t i = 0; (command = hf_cli_command_at(i)); i++)
        zsh_command(out, command);
    (void)fputs("    esac\n}\ncompdef _holdfast holdfast\n", out);
}

static void fish_command(FILE *out, const hf_cli_command *command)
{
    (void)fprintf(out, "complete -c holdfast -n __fish_use_subcommand -f -a %s -d '%s'\n",
                  command->name, command->summary);
    for (int i = 0; i < HF_CLI_FLAG_COUNT; i++) {
        const hf_cli_flag *flag = hf_cli_flag_at((hf_cli_flag_id)i);

        if (!hf_cli_command_takes(command, (hf_cli_flag_id)i))
            continue;
        (void)fprintf(out, "complete -c holdfast -n '__fish_seen_subcommand_from %s' -l %s -d '%s'",
                      command->name, flag->name, flag->sentence);
        if (flag->letter)
            (void)fprintf(out, " -s %c", flag->letter);
        (void)fputs(!flag->value ? "" : flag->choices ? " -x -a '" : " -r", out);
        if (flag->choices)
            values_write(out, command, (hf_cli_flag_id)i);
        (void)fputs(flag->choices ? "'\n" : "\n", out);
    }
    for (const hf_cli_arg *arg = command->args; arg->name; arg++) {
        if (!arg->choices)
            continue;
        (void)fprintf(out, "complete -c holdfast -n '__fish_seen_subcommand_from %s' -f -a '",
                      command->name);
        choices_write(out, arg->choices);
        (void)fputs("'\n", out);
    }
}

hf_status hf_cli_completion(hf_cli_call *call, hf_err *err)
{
    const hf_cli_command *command;

    if (strcmp(call->args[0], "words") == 0) {
        hf_cli_complete(call, call->words + 1, call->word_count - 1);
    } else if (strcmp(call->args[0], "bash") == 0) {
        bash_write(call->print.out);
    } else if (strcmp(call->args[0], "zsh") == 0) {
        zsh_write(call->print.out);
    } else {
        (void)fputs("# Completion of holdfast for fish.\n", call->print.out);
        for (size_t i = 0; (command = hf_cli_command_at(i)); i++)
            fish_command(call->print.out, command);
    }
    return hf_cli_print_flush(&call->print, err);
}
