const width = 96

/** Renders a wrapped doc comment. Returns an empty string without paragraphs. */
export const docComment = (...paragraphs: ReadonlyArray<string | undefined>): string =>
  rendered(paragraphs.flatMap((one) => (one ? [wrap(escaped(one))] : [])))

/** Like `docComment`, with an example, whose lines are not wrapped. */
export const docCommentWithExample = (paragraphs: ReadonlyArray<string>, example: string): string =>
  rendered([
    ...paragraphs.map((one) => wrap(escaped(one))),
    ["@example", ...escaped(example).split("\n")]
  ])

/** The backslash has no effect in a TypeScript string, but prevents the end of the comment. */
const escaped = (text: string) => text.replaceAll("*/", "*\\/")

const rendered = (parts: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = parts.flatMap((part, index) => (index === 0 ? part : ["", ...part]))
  const [only] = lines
  if (only === undefined) return ""
  return lines.length === 1
    ? `/** ${only} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`
}

/** Inline code counts as one word. */
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
