# SPDX-License-Identifier: Apache-2.0
# For scripts that run many checks and end with one count. Sourced.
#
#	step NAME COMMAND...	runs it; its output is shown when it fails. An output that ends with
#				"N passed, N failed" counts as that, any other as one.
#	finish			prints the whole count and exits

steps_log=$(mktemp -d)
trap 'rm -rf "$steps_log"' EXIT
passed=0
failed=0
skipped=0
failures=

# POSIX sh has no local variables: those of step start with an underscore.
step() {
	_name=$1
	shift
	_log=$steps_log/log
	_begin=$(date +%s)
	_status=0
	"$@" >"$_log" 2>&1 </dev/null || _status=$?
	_took=$(($(date +%s) - _begin))
	_counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$_log" | tail -n 1)
	_passed=0 _failed=0 _skipped=0
	if [ -n "$_counts" ]; then
		_passed=${_counts%% passed*}
		_failed=${_counts#*, }
		_failed=${_failed%% failed*}
		case $_counts in
		*skipped*)
			_skipped=${_counts##*, }
			_skipped=${_skipped%% skipped*}
			;;
		esac
	fi
	# A step that failed without a count of its failures is one.
	if [ $_status -ne 0 ] && [ "$_failed" -eq 0 ]; then
		_failed=1
	elif [ -z "$_counts" ]; then
		_passed=1
	fi
	passed=$((passed + _passed))
	failed=$((failed + _failed))
	skipped=$((skipped + _skipped))
	if [ "$_failed" -ne 0 ]; then
		failures="$failures $_name"
		printf 'FAIL %s (%s s)\n' "$_name" "$_took"
		sed 's/^/     /' "$_log"
	else
		printf 'ok   %s (%s s)%s\n' "$_name" "$_took" "${_counts:+: $_counts}"
		sed -n '/^skipped:$/,/^$/s/^  /     skipped /p' "$_log"
	fi
}

finish() {
	[ -z "$failures" ] || printf '\nfailed:%s\n' "$failures"
	printf '\n%s passed, %s failed' "$passed" "$failed"
	[ "$skipped" -eq 0 ] || printf ', %s skipped' "$skipped"
	printf '\n'
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
	exit
}
