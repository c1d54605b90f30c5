import { changedFields } from "./merge.ts"

interface Versioned {
  readonly version?: number | undefined
}

/**
 * Calls `update` with the changed fields and the version that was loaded, unless nothing has
 * changed.
 */
export type SendPatch<Input> = (
  update: (changes: Partial<Input> & Versioned) => Promise<unknown>
) => Promise<unknown>

/** Creates a record from the whole input, or patches an existing record. */
export type SendInput<Input> = (input: Input, patch: SendPatch<Input>) => Promise<unknown>

/** Converts form values to API input and passes it to `onSend`. */
export const sendInput =
  <Values extends object, Input extends object>(
    inputOf: (values: Values) => Input,
    onSend: SendInput<Input>
  ) =>
  async (values: Values, before: Values): Promise<unknown> => {
    const input = inputOf(values)
    return onSend(input, async (update) => {
      const changes = changedFields(inputOf(before), input)
      const { version }: Versioned = before
      return Object.keys(changes).length === 0
        ? undefined
        : await update({ ...changes, ...(version !== undefined && { version }) })
    })
  }
