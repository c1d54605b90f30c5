/** A command's option. An option without a `value` is a switch. */
export interface Option {
  readonly description: string
  /** The value's name in the help, such as `URL`. */
  readonly value?: string
  readonly short?: string
  readonly multiple?: true
}

export interface CommandArguments {
  /** The arguments that are not options. */
  readonly words: ReadonlyArray<string>
  /** The arguments after `--`. */
  readonly rest: ReadonlyArray<string>
  /** Returns an option's value, or undefined if the option is not given. */
  readonly value: (name: string) => string | undefined
  readonly values: (name: string) => ReadonlyArray<string>
  readonly has: (name: string) => boolean
}

export interface Command {
  /** The command's name, such as `cron list`. */
  readonly name: string
  readonly summary: string
  /** The arguments in the help, such as `KEY`. */
  readonly usage?: string
  /** The minimum and maximum number of arguments. */
  readonly words?: readonly [least: number, most: number]
  readonly options?: Readonly<Record<string, Option>>
  /** Examples for the help. A test runs them. */
  readonly examples: readonly [string, string]
  /** Further details for the help. */
  readonly details?: string
  /** Runs the command and returns its exit status. */
  readonly run: (given: CommandArguments) => Promise<number> | number
}

/** The exit statuses of all commands. `exec` returns its job's exit status. */
export const exitStatus = { success: 0, failure: 1, different: 2, usage: 64 } as const

/** The command line is not valid, and nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** The command has failed. The message is a sentence for the user. */
export class CommandError extends Error {
  override readonly name = "CommandError"
}

/** Returns a required argument. The command's `words` setting guarantees that it exists. */
export const requiredArgument = ({ words }: CommandArguments, index: number): string => {
  const word = words[index]
  if (word === undefined)
    throw new UsageError("A required argument is missing. See: scheduling --help")
  return word
}
