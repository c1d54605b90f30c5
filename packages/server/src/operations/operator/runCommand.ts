import { Effect } from "effect"

/** Prints the result of an operator's command, or the reason why the command failed. */
export const runCommand = async (
  command: Effect.Effect<string, { readonly message: string }>
): Promise<void> => {
  process.exitCode = await Effect.runPromise(
    command.pipe(
      Effect.match({
        onFailure: ({ message }) => {
          process.stderr.write(`${message}\n`)
          return 1
        },
        onSuccess: (text) => {
          process.stdout.write(`${text}\n`)
          return 0
        }
      })
    )
  )
}
