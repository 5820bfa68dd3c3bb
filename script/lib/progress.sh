# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by script/test: shows what runs and how far it is. On a terminal one line is written over
# again and again, with a carriage return and blanks only; elsewhere finished groups get a line
# each.

is_live=false
if [ -t 1 ]; then
	is_live=true
fi

# Not longer than the terminal is wide: a line that wraps could not be written over.
columns=$(stty size 2>/dev/null </dev/tty | cut -d' ' -f2 || true)
if [ "${columns:-0}" -lt 20 ]; then
	columns=80
fi

# show TEXT: what runs now.
show() {
	if $is_live; then
		printf '\r%-*.*s\r' $((columns - 1)) $((columns - 1)) "$1"
	fi
}

# Before anything else is printed.
show_nothing() {
	show ""
}

# The room of each cli test, by its name.
declare -A room_of=()
find_rooms() {
	local file
	for file in "$1"/tests/cli/*/*.sh; do
		room_of[$(basename "$file" .sh)]=$(basename "$(dirname "$file")")
	done
}

# group_of TEST: in $group.
group_of() {
	case $1 in
	cli-*) group=cli-${room_of[${1#cli-}]:-other} ;;
	*) group=${1%%-*} ;;
	esac
}

# follow NAME LIST: reads ctest's output and shows how far it is. LIST has the names of its tests,
# one a line.
follow() {
	local name=$1 line="" part group test result total=0 count=0 bad=0 since=$SECONDS said=$SECONDS state
	local -A left=() passed_in=() failed_in=() skipped_in=() started=() running=()
	while read -r test; do
		[ -n "$test" ] || continue
		group_of "$test"
		left[$group]=$((${left[$group]:-0} + 1))
		total=$((total + 1))
	done <<<"$2"
	while :; do
		state=0
		IFS= read -r -t 1 part || state=$?
		line+=$part
		# Above 128: nothing for a second, and perhaps half a line. Otherwise the end.
		if [ "$state" -eq 0 ]; then
			if [[ $line =~ ^\ +Start\ +[0-9]+:\ ([^ ]+) ]]; then
				running[${BASH_REMATCH[1]}]=1
				group_of "${BASH_REMATCH[1]}"
				started[$group]=${started[$group]:-$SECONDS}
			elif [[ $line =~ ^\ *[0-9]+/[0-9]+\ Test\ +#[0-9]+:\ ([^ ]+)\ \.*\ *(\**[A-Z][A-Za-z\ ]*[A-Za-z]) ]]; then
				test=${BASH_REMATCH[1]} result=${BASH_REMATCH[2]}
				unset "running[$test]"
				group_of "$test"
				count=$((count + 1))
				case $result in
				Passed) passed_in[$group]=$((${passed_in[$group]:-0} + 1)) ;;
				*Skipped) skipped_in[$group]=$((${skipped_in[$group]:-0} + 1)) ;;
				*)
					bad=$((bad + 1))
					failed_in[$group]=$((${failed_in[$group]:-0} + 1))
					show_nothing
					printf 'FAIL  %s: %s\n' "$name" "$test"
					said=$SECONDS
					;;
				esac
				left[$group]=$((${left[$group]:-1} - 1))
				if [ "${left[$group]}" -eq 0 ] && ! $is_live; then
					printf '      %-34s %s (%d s)\n' "$name: $group" \
						"${passed_in[$group]:-0} passed, ${failed_in[$group]:-0} failed, ${skipped_in[$group]:-0} skipped" \
						$((SECONDS - ${started[$group]:-$since}))
					said=$SECONDS
				fi
			fi
			line=
		elif [ "$state" -le 128 ]; then
			break
		fi
		show "$name: $count of $total$([ "$bad" -eq 0 ] || echo ", $bad failed"), $((SECONDS - since)) s: ${!running[*]}"
		if ! $is_live && [ $((SECONDS - said)) -ge 30 ]; then
			printf '      %-34s %s\n' "$name" "$count of $total after $((SECONDS - since)) s; now ${!running[*]}"
			said=$SECONDS
		fi
	done
	show_nothing
}
