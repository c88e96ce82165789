import { Argument, Command } from "commander";
import type { Output, World } from "../output.ts";

/** Each asks the command line itself, so that what is defined and deployed now is offered. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_belfry() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _belfry belfry`,
  zsh: `#compdef belfry
_belfry() {
  local -a found
  found=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _belfry belfry`,
  fish: `function __belfry
  set -l line (commandline -opc) (commandline -ct)
  belfry __complete $line[2..-1] 2>/dev/null
end
complete -c belfry -f -a '(__belfry)'`,
};

export function completionCommand(_: World, out: Output): Command {
  return new Command("completion")
    .addArgument(new Argument("<shell>").choices(Object.keys(scripts)))
    .addHelpText(
      "after",
      "\nExample:\n  $ npx belfry completion bash > ~/.local/share/bash-completion/completions/belfry",
    )
    .action((shell: string) => {
      const script = scripts[shell] ?? "";
      out.result({ shell, script }, () => script);
    });
}
