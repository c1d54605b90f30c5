/** A Dockerfile instruction. Flags such as `--from=build` are separate. */
export interface Instruction {
  readonly name: string
  readonly flags: Pairs
  readonly rest: string
}

export interface Stage {
  readonly name: string | undefined
  readonly base: string
  readonly instructions: ReadonlyArray<Instruction>
}

type Pairs = Readonly<Record<string, string>>

/**
 * Parses the subset of the Dockerfile language that this project uses. Build arguments come before
 * the first `FROM` and have a default. Throws on everything else, so that nothing is replayed
 * incorrectly.
 */
export const parseDockerfile = (text: string): ReadonlyArray<Stage> => {
  const stages: Array<Stage & { readonly instructions: Array<Instruction> }> = []
  const args: Record<string, string> = {}
  for (const instruction of instructionsIn(text)) {
    const { name, rest } = instruction
    const stage = stages.at(-1)
    if (name === "FROM") {
      stages.push({ ...parseFrom(rest, args), instructions: [] })
    } else if (stage !== undefined) {
      stage.instructions.push(instruction)
    } else if (name === "ARG") {
      Object.assign(args, pairsIn(rest))
    } else {
      throw new Error(`${name} ${rest} stands before the first FROM`)
    }
  }
  return stages
}

/** Parses the arguments to `ENV`: `NAME=value NAME=value`, without spaces in values. */
export const pairsIn = (text: string): Pairs =>
  Object.fromEntries(
    text
      .split(/\s+/)
      .filter((pair) => pair !== "")
      .map((pair): [string, string] => {
        const at = pair.indexOf("=")
        if (at === -1) throw new Error(`${pair} is not NAME=value`)
        return [pair.slice(0, at), pair.slice(at + 1)]
      })
  )

/** Parses a command in exec form, such as `["node", "main.ts"]`. The shell form is not supported. */
export const parseExecForm = (command: string): ReadonlyArray<string> => {
  const words: unknown = JSON.parse(command)
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string")) {
    throw new Error(`${command} is not a list of words`)
  }
  return words
}

/** Splits a Dockerfile into instructions. Removes comments and joins continued lines. */
const instructionsIn = (text: string): ReadonlyArray<Instruction> =>
  text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", flags = "", rest = ""] =
        /^(\w+)((?:\s+--[\w-]+=\S+)*)\s+(.+)$/.exec(line.trim()) ?? []
      if (name === "") throw new Error(`cannot read the line ${line}`)
      return { name, flags: pairsIn(flags.replaceAll("--", "")), rest }
    })

const parseFrom = (rest: string, args: Pairs) => {
  const [, image = "", name] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? []
  const base = image.replaceAll(/\$\{(\w+)\}/g, (_, arg: string) => {
    const value = args[arg]
    if (value === undefined) throw new Error(`FROM ${rest}: there is no ARG ${arg}`)
    return value
  })
  return { name, base }
}
