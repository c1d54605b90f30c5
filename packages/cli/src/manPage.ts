import type { Command } from "./Command.ts"
import { environmentLines, exitStatusLines, optionsOf } from "./help.ts"

/**
 * Escapes text for a man page. Without escaping, hyphens would be shown as dashes, and a line that
 * begins with a dot or a quote would be read as a macro.
 */
const escaped = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(/^(?=[.'])/gm, "\\&")

const paragraph = (text: string): string => `.PP\n${escaped(text)}`

const example = (line: string): string => `.PP\n.nf\n.RS\n${escaped(line)}\n.RE\n.fi`

const sectionOf = (command: Command): string => {
  const { details, examples, name, summary, usage } = command
  const options = optionsOf(command).map(
    ({ description, flags }) => `.TP\n\\fB${escaped(flags)}\\fR\n${escaped(description)}`
  )
  return [
    `.SS "${escaped(`scheduling ${name}${usage === undefined ? "" : ` ${usage}`}`)}"`,
    escaped(summary),
    ...(details === undefined ? [] : [paragraph(details)]),
    ...options,
    ...examples.map(example)
  ].join("\n")
}

/** Returns the man page, which has the same content as the help. */
export const manPage = (commands: ReadonlyArray<Command>, version: string): string =>
  `${[
    `.TH SCHEDULING 1 "" "scheduling ${escaped(version)}" "Scheduling Service"`,
    ".SH NAME",
    "scheduling \\- the command line of the Scheduling Service",
    ".SH SYNOPSIS",
    "\\fBscheduling\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]",
    ".SH COMMANDS",
    ...commands.map(sectionOf),
    ".SH ENVIRONMENT",
    ...environmentLines.map(paragraph),
    ".SH EXIT STATUS",
    ...exitStatusLines.map(([status, meaning]) => `.TP\n${status}\n${escaped(meaning)}`)
  ].join("\n")}\n`
