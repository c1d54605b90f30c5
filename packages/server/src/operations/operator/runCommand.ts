import { Effect } from "effect"

/** Prints what a command of the operator says, or in one line why it could not be done. */
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
