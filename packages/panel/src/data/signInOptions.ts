import { queryOptions } from "@tanstack/react-query"
import { publicClient } from "./session.ts"

/** The available sign-in methods. They change only when the server restarts. */
export const signInOptions = queryOptions({
  queryKey: ["sign-in"],
  queryFn: ({ signal }) => publicClient.auth.getOptions({ signal }),
  staleTime: Infinity
})
