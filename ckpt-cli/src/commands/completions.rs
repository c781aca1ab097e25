//! `cargo ckpt completions`: what a shell needs to complete commands and options.

use clap_complete::aot::{Shell, generate};

use crate::failure::Outcome;
use crate::render;

/// Print completions for a shell
///
/// They complete `cargo-ckpt run`; in bash, zsh and fish `cargo ckpt run` as well.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt completions bash > ~/.cargo-ckpt.bash
  cargo ckpt completions zsh > ~/.zfunc/_cargo-ckpt
  cargo ckpt completions fish > ~/.config/fish/completions/cargo-ckpt.fish

For `cargo ckpt` in two words they are loaded after cargo's own, in ~/.bashrc, behind compinit in ~/.zshrc, or in
~/.config/fish/config.fish:
  source ~/.local/share/bash-completion/completions/cargo-ckpt
  source ~/.zfunc/_cargo-ckpt
  source ~/.config/fish/completions/cargo-ckpt.fish

Exit codes: 0 done, 2 no such shell.";

/// Hands `cargo ckpt ..` to the completions of `cargo-ckpt`, and the rest to those that cargo had.
const BASH: &str = r#"
_cargo_ckpt_now=$(complete -p cargo 2>/dev/null | sed -n 's/.*-F \([^ ]*\).*/\1/p')
[[ $_cargo_ckpt_now == _cargo_ckpt_in_two_words ]] || _cargo_ckpt_former=$_cargo_ckpt_now
_cargo_ckpt_in_two_words() {
    if [[ ${COMP_WORDS[1]} == ckpt && $COMP_CWORD -gt 1 ]]; then
        COMP_WORDS=(cargo-ckpt "${COMP_WORDS[@]:2}")
        COMP_CWORD=$((COMP_CWORD - 1))
        _cargo_ckpt cargo-ckpt "$2" "${COMP_WORDS[COMP_CWORD - 1]}"
    elif [[ -n ${_cargo_ckpt_former:-} ]]; then
        "$_cargo_ckpt_former" "$@"
    fi
}
complete -F _cargo_ckpt_in_two_words -o bashdefault -o default cargo
"#;

/// The same; `_comps` says what completes a command.
const ZSH: &str = r#"
if [ "$funcstack[1]" != "_cargo-ckpt" ]; then
    [[ ${_comps[cargo]:-} == _cargo_ckpt_in_two_words ]] || typeset -g _cargo_ckpt_former=${_comps[cargo]:-}
    _cargo_ckpt_in_two_words() {
        if [[ ${words[2]} == ckpt && $CURRENT -gt 2 ]]; then
            words=(cargo-ckpt "${(@)words[3,-1]}")
            (( CURRENT-- ))
            _cargo-ckpt "$@"
        elif [[ -n ${_cargo_ckpt_former:-} ]]; then
            ${=_cargo_ckpt_former} "$@"
        else
            _default
        fi
    }
    compdef _cargo_ckpt_in_two_words cargo
fi
"#;

/// fish keeps all completions that are registered for a command: this adds one to those of cargo.
const FISH: &str = r#"
function __cargo_ckpt_in_two_words
    set -l words (commandline -opc)
    set -e words[1..2]
    complete -C (string join -- ' ' cargo-ckpt $words (commandline -ct))
end
complete -c cargo -n 'set -l words (commandline -opc); test (count $words) -ge 2; and test $words[2] = ckpt' -f -a '(__cargo_ckpt_in_two_words)'
"#;

impl Completions {
    /// Prints.
    pub fn perform(&self) -> Outcome<u8> {
        // The generator for bash mistakes a dash in the name for the end of a word.
        let name = match self.shell {
            Shell::Bash => "cargo_ckpt",
            _ => "cargo-ckpt",
        };
        let mut command = super::line::whole_command().name(name).bin_name(name);
        let mut script = Vec::new();
        generate(self.shell, &mut command, name, &mut script);
        let mut script = String::from_utf8_lossy(&script).into_owned();
        match self.shell {
            Shell::Bash => {
                script = script.replace("-o default cargo_ckpt\n", "-o default cargo-ckpt\n") + BASH;
            }
            Shell::Zsh => script += ZSH,
            Shell::Fish => script += FISH,
            _ => {}
        }
        render::print_as_it_is(&script);
        Ok(0)
    }
}
