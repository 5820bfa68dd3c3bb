#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Loads each completion script in its shell and compares the candidates for Tab. zsh and fish only
# where they are installed.
. "$(dirname "$0")/../support/lib.sh"

mkdir -p "$scratch/completions" "$scratch/shellhome" "$project/directory"
touch "$project/document" "$project/a name with blanks"
for shell in bash zsh fish; do
	file=$scratch/completions/$shell
	[ "$shell" = zsh ] && file=$scratch/completions/_berm
	expect "a script for $shell" "$BERM" completions "$shell"
	"$BERM" completions "$shell" >"$file"
done
expect_status "no script for another shell" 125 "$BERM" completions tcsh
expect_contains "the shells there are" fish "$err"
expect_status "which shell?" 125 "$BERM" completions
expect_status "help" 0 "$BERM" help
expect_contains "it is in the list" completions "$out"
ln -s "$BERM" "$scratch/berm"
export PATH=$scratch:$PATH HOME=$scratch/shellhome BERM_TEST_VARIABLE=x

# offered_SHELL LINE: prints the candidates for Tab after LINE, one per line. Candidates of a value
# come without the option, as the shells show them.
offered_bash() {
	# shellcheck disable=SC2016 # the inner shell's own variables
	bash --norc -c '. "$1"
		# The words as readline splits them: at blanks and at =.
		COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=()
		for word in $2; do
			while [[ $word == *=* ]]; do
				[ -z "${word%%=*}" ] || COMP_WORDS+=("${word%%=*}")
				COMP_WORDS+=("=")
				word=${word#*=}
				[ -n "$word" ] || continue 2
			done
			COMP_WORDS+=("$word")
		done
		[[ $2 != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_berm
		printf "%s\n" "${COMPREPLY[@]}"' bash "$scratch/completions/bash" "$1"
}

# zsh completes only at a prompt: gives it a terminal and writes its list to a file.
# shellcheck disable=SC2016,SC2317 # its own variables; called by name
offered_zsh() {
	cat >"$scratch/shellhome/.zshrc" <<-END
	PROMPT=READY fpath=($scratch/completions \$fpath)
	autoload -Uz compinit && compinit -u -d $scratch/zcompdump
	compadd() {
		local -a found
		if [[ " \$* " != *" -"[OAD]" "* ]]; then
			builtin compadd -O found "\$@"
			print -rl -- \$found >>$scratch/offered
		fi
		builtin compadd "\$@"
	}
	finished() { : >$scratch/done }
	zle -N finished
	bindkey '^X' finished
	END
	rm -f "$scratch/offered" "$scratch/done"
	zsh -f -c 'zmodload zsh/zpty
		zpty terminal "TERM=dumb ZDOTDIR=$1 zsh -d -i"
		zpty -r terminal output "*READY*"
		zpty -w -n terminal "$2"$'"'\\t\\x18'"'
		for ((i = 0; i < 3000; i++)); do
			[[ -e $3 ]] && break
			sleep 0.02
			zpty -r -t terminal output
		done
		zpty -d terminal' zsh "$scratch/shellhome" "$1" "$scratch/done" >/dev/null 2>&1
	[ -e "$scratch/done" ] || echo "zsh did not answer"
	cat "$scratch/offered" 2>/dev/null
}

# shellcheck disable=SC2016,SC2317 # its own variables; called by name
offered_fish() {
	fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$scratch/completions/fish" "$1" | cut -f 1 | sed 's/^--[a-z-]*=\(.\)/\1/'
}

# offers NAME LINE CANDIDATE...: exactly these, in every shell.
offers() {
	local name=$1 line=$2 shell wanted got
	shift 2
	wanted=$(printf '%s\n' "$@" | sort -u)
	for shell in $shells; do
		got=$("offered_$shell" "$line" | sed 's/[=/]$//; /^$/d' | sort -u)
		expect_equal "$shell: $name ($line)" "$wanted" "$got"
	done
}

shells=bash
for shell in zsh fish; do
	if command -v "$shell" >/dev/null; then
		shells="$shells $shell"
	else
		echo "$shell is not installed"
	fi
done

offers "a subcommand" "berm pl" plan
offers "two subcommands" "berm p" plan policies
offers "a subcommand" "berm comp" completions
offers "what is hidden stays hidden" "berm hook-r"
offers "the three ways to allow" "berm run --al" --allow-read --allow-write --allow-net
offers "options of one subcommand only" "berm plan --d" --deny
offers "behind other options" "berm run --strict --project=directory --d" --deny --dry-run
offers "behind a value of its own" "berm run --project directory --d" --deny --dry-run
offers "guarantees" "berm run --accept-weaker=p" planting processes
offers "guarantees as a word of their own" "berm run --accept-weaker p" planting processes
offers "policies" "berm policies --show=registry-p" registry-packagist registry-pypi
offers "systems" "berm plan --os=m" macos
offers "questions" "berm check " read write exec connect env
offers "questions behind an option" "berm check --json e" exec env
offers "options behind the question" "berm check read --js" --json
offers "files" "berm check read doc" document
offers "variables" "berm check env BERM_TEST_V" BERM_TEST_VARIABLE
offers "verbs" "berm state re" reset
offers "options of a verb" "berm state reset --a" --all
offers "options of another verb" "berm state path --a" --allow-read --allow-write --allow-net --accept-weaker
offers "directories only" "berm trust d" directory
offers "a policy file" "berm plan --policy=doc" document
offers "a command" "berm run -- mkfif" mkfifo
offers "a command without --" "berm run mkfif" mkfifo
offers "no options of ours behind the command" "berm run -- true --dry-r"

# berm accepts every candidate.
for word in $(offered_bash "berm check "); do
	expect_status "berm check $word" 125 "$BERM" check "$word"
	expect_contains "berm check $word is a question" "nothing to check" "$err"
done
for word in $(offered_bash "berm state "); do
	expect_status "berm state $word is a verb" 0 "$BERM" state "$word" --help
done
for word in $(offered_bash "berm policies --show="); do
	expect_status "the policy $word exists" 0 "$BERM" policies --show="$word"
done
for word in $(offered_bash "berm run --accept-weaker="); do
	expect_status "the guarantee $word exists" 0 "$BERM" run --accept-weaker="$word" --help
done

finish
