import type { CallOptions } from "@scheduling/domain/calls/CallOptions"

/** The options of a call as a row stores them. Null if the call has no options, as is usual. */
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
