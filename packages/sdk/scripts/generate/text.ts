const width = 96

/** A doc comment of paragraphs, wrapped; nothing where there is nothing to say. */
export const comment = (...paragraphs: ReadonlyArray<string | undefined>): string => {
  const said = paragraphs.flatMap((one) => one || [])
  if (said.length === 0) return ""
  const lines = said
    .map((one) => wrap(one.replaceAll("*/", "*\\/")))
    .flatMap((part, index) => (index === 0 ? part : ["", ...part]))
  const [only = ""] = lines
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
