import type { CallOptions } from "@scheduling/domain/calls/CallOptions"

/** The options that a call has, as a row keeps them: null if it has none, as most calls. */
export const callOptionsOf = ({
  auth,
  body_contains,
  body_lacks,
  completion,
  retry,
  success_codes
}: CallOptions): CallOptions | null => {
  const options: CallOptions = {
    ...(success_codes !== undefined && { success_codes }),
    ...(body_contains !== undefined && { body_contains }),
    ...(body_lacks !== undefined && { body_lacks }),
    ...(retry !== undefined && { retry }),
    ...(completion !== undefined && { completion }),
    ...(auth !== undefined && { auth })
  }
  return Object.keys(options).length === 0 ? null : options
}
