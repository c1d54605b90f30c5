const width = 96

/** A doc comment of paragraphs, wrapped; nothing where there is nothing to say. */
export const comment = (...paragraphs: ReadonlyArray<string | undefined>): string =>
  rendered(paragraphs.flatMap((one) => (one ? [wrap(escaped(one))] : [])))

/** The same with an example, whose lines stay as they are. */
export const commentWithExample = (paragraphs: ReadonlyArray<string>, example: string): string =>
  rendered([
    ...paragraphs.map((one) => wrap(escaped(one))),
    ["@example", ...escaped(example).split("\n")]
  ])

/** A backslash before the slash means nothing in a string of TypeScript, and the comment goes on. */
const escaped = (text: string) => text.replaceAll("*/", "*\\/")

const rendered = (parts: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = parts.flatMap((part, index) => (index === 0 ? part : ["", ...part]))
  const [only] = lines
  if (only === undefined) return ""
  return lines.length === 1
    ? `/** ${only} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`
}

/** Inline code is one word. */
const words = /(?:`[^`]*`|\S)+/g

const wrap = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const [word] of text.matchAll(words)) {
    const line = lines.at(-1)
    if (line === undefined || line.length + word.length >= width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

/** `task_id` → `taskId` */
export const camel = (name: string) =>
  name.replaceAll(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase())

/** `apiKeys` → `ApiKeys` */
export const pascal = (name: string) => name.charAt(0).toUpperCase() + camel(name).slice(1)
