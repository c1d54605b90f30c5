import { queryOptions } from "@tanstack/react-query"
import { client } from "../data/client.ts"
import { listOptions } from "../data/queries.ts"
import { session } from "../data/session.ts"

export const sessionListOptions = listOptions(["account", "sessions"], (cursor, signal) =>
  client.auth.listSessions({ cursor, limit: 50 }, { signal })
)

export const totpOptions = queryOptions({
  queryKey: ["account", "totp"],
  queryFn: ({ signal }) => client.totp.get({ signal })
})

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly last_used_at: string | null
  readonly created_at: string
}

export const passkeyOptions = queryOptions({
  queryKey: ["account", "passkeys"],
  queryFn: () =>
    session.askPanel<{
      readonly data: ReadonlyArray<Passkey>
      /** True if the account has a password. Changing passkeys then requires it. */
      readonly has_password: boolean
    }>("/panel/session/passkeys/list")
})
