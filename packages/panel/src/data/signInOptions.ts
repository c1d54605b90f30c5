import { queryOptions } from "@tanstack/react-query"
import { publicClient } from "./session.ts"

/** The ways to sign in. They change only when the server starts again. */
export const signInOptions = queryOptions({
  queryKey: ["sign-in"],
  queryFn: ({ signal }) => publicClient.auth.getOptions({ signal }),
  staleTime: Infinity
})
