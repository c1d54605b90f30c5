/** A new key while the old one still works: `npx node examples/rotate-key.ts` */
import { InvalidApiKeyError, SchedulingClient } from "@scheduling/sdk"
import { baseUrl, demoAccount } from "./support/demo.ts"

const person = await demoAccount()
const scopes = ["tasks:read"] as const
const old = await person.apiKeys.create({ name: "reports", scopes: [...scopes] })
const works = async (apiKey: string) => {
  try {
    await new SchedulingClient({ apiKey, baseUrl }).cron.list()
    return "works"
  } catch (error) {
    if (error instanceof InvalidApiKeyError) return "is rejected"
    throw error
  }
}
console.log(`The key ${old.key_prefix}… ${await works(old.key)}.`)

// Both work for an hour, which is time to replace the old key wherever it is used.
const fresh = await person.apiKeys.rotate(old.id, { grace_seconds: 3600 })
console.log(
  `Rotated: ${old.key_prefix}… ${await works(old.key)}, ${fresh.key_prefix}… ${await works(fresh.key)}.`
)

// The old key is in use nowhere any more, so it can go before the hour is over.
await person.apiKeys.revoke(old.id)
console.log(
  `Revoked: ${old.key_prefix}… ${await works(old.key)}, ${fresh.key_prefix}… ${await works(fresh.key)}.`
)

for await (const key of person.apiKeys.list()) {
  console.log(
    `  ${key.key_prefix}… ${key.is_active ? "active" : "revoked"}, last used ${key.last_used_at ?? "never (yet)"}`
  )
}
