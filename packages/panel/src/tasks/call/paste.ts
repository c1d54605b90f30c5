import { parseCurl, type ParsedPaste } from "./parseCurl.ts"

const nicknames: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *"
}

/** Matches a crontab line: five fields and a command. Months and weekdays may be names. */
const crontabLine =
  /^((?:[\d*][\d*,/~-]*\s+){3}(?:[\d*]|[a-z]{3}\b)[\d*,/~\-a-z]*\s+(?:[\d*]|[a-z]{3}\b)[\d*,/~\-a-z]*)(?:\s+(.*))?$/is

/** Parses a crontab line, a curl command, or a crontab line that runs a curl command. */
export const parsePaste = (text: string): ParsedPaste | undefined => {
  const [schedule, command] = scheduleIn(text.trim())
  const call = parseCurl(command)
  if (schedule === undefined) return call
  return {
    values: { ...call?.values, repeats: "by schedule", schedule },
    filled: [...(call?.filled ?? []), "schedule"],
    // Only curl commands can be converted to a call.
    ignored: call?.ignored ?? (command === "" ? [] : [shortened(command)])
  }
}

/** Parses the same input for a form without a schedule. */
export const parsePastedCall = (text: string): ParsedPaste | undefined => {
  const [schedule, command] = scheduleIn(text.trim())
  const call = parseCurl(command)
  return call === undefined || schedule === undefined
    ? call
    : { ...call, ignored: [...call.ignored, "the schedule"] }
}

const scheduleIn = (line: string): readonly [schedule: string | undefined, command: string] => {
  const [nickname = ""] = line.split(/\s/, 1)
  const known = nicknames[nickname]
  if (known !== undefined) return [known, line.slice(nickname.length).trim()]
  const [, schedule, command = ""] = crontabLine.exec(line) ?? []
  return schedule === undefined
    ? [undefined, line]
    : [schedule.split(/\s+/).join(" "), command.trim()]
}

const shortened = (command: string) =>
  command.length > 100 ? `${command.slice(0, 100)}…` : command
