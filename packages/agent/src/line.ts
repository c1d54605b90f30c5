import { Cause, type Logger, References } from "effect"

/** One line per entry: time, level, text, and what it is about. */
export const lineOf = ({
  cause,
  date,
  fiber,
  logLevel,
  message
}: Logger.Options<unknown>): string => {
  const text = [message].flat().map(String).join(" ")
  const failure = cause.reasons.length === 0 ? "" : `: ${Cause.pretty(cause)}`
  const notes = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
    .map(([name, value]) => ` ${name}=${String(value)}`)
    .join("")
  return `${date.toISOString()} ${logLevel.toUpperCase()} ${oneLine(text + failure)}${notes}`
}

const oneLine = (text: string) => text.replaceAll(/\s*[\r\n]+\s*/g, " | ")
