import { queryOptions } from "@tanstack/react-query"
import { client } from "../data/client.ts"
import { listOptions } from "../data/queries.ts"

export const sessionListOptions = listOptions(["account", "sessions"], (cursor, signal) =>
  client.auth.listSessions({ cursor, limit: 50 }, { signal })
)

export const totpOptions = queryOptions({
  queryKey: ["account", "totp"],
  queryFn: ({ signal }) => client.totp.get({ signal })
})
