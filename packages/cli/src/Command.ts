/** An option of a command. Without a `value` it is a switch. */
export interface Option {
  readonly description: string
  /** The name of the value in the help, such as `URL`. */
  readonly value?: string
  readonly short?: string
  readonly multiple?: true
}

export interface Given {
  /** The arguments that are no options. */
  readonly words: ReadonlyArray<string>
  /** The arguments after `--`. */
  readonly rest: ReadonlyArray<string>
  /** The value of an option. Undefined if it is not given. */
  readonly value: (name: string) => string | undefined
  readonly values: (name: string) => ReadonlyArray<string>
  readonly has: (name: string) => boolean
}

export interface Command {
  /** The words by which it is called, such as `cron list`. */
  readonly name: string
  readonly summary: string
  /** Its arguments as the help shows them, such as `KEY`. */
  readonly usage?: string
  /** The least and the greatest number of arguments. */
  readonly words?: readonly [least: number, most: number]
  readonly options?: Readonly<Record<string, Option>>
  /** Command lines as people write them. A test runs them. */
  readonly examples: readonly [string, string]
  /** Says what else there is to know. */
  readonly details?: string
  /** Returns the exit status. */
  readonly run: (given: Given) => Promise<number> | number
}

/** The exit statuses of all commands. `exec` ends with the status of its command. */
export const exitStatus = { success: 0, failure: 1, different: 2, usage: 64 } as const

/** The command line is wrong. Nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** The command cannot do what was asked. The message is a sentence for people. */
export class CommandError extends Error {
  override readonly name = "CommandError"
}

/** The argument at the index, which `words` of the command requires. */
export const wordAt = ({ words }: Given, index: number): string => {
  const word = words[index]
  if (word === undefined) throw new UsageError("An argument is missing.")
  return word
}
