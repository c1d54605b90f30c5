import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { hashLinkToken, makeLinkToken } from "../../../src/core/linkTokens.ts"
import { Secrets } from "../../../src/core/Secrets.ts"
import type { UserLinkPurpose } from "../../../src/accounts/users/UserLinksRepo.ts"
import type { Member } from "../../support/http.ts"
import { testConfig, testNow } from "../../support/TestApp.ts"

/** Creates a link token, as an operator would. */
export const linkTokenFor = Effect.fnUntraced(
  function* (
    purpose: UserLinkPurpose,
    { user_id }: Pick<Member, "user_id">,
    expiresAt = testNow + 3_600_000
  ) {
    const sql = yield* SqlClient.SqlClient
    const ring = (yield* Secrets).keys("link-token")
    const token = makeLinkToken()
    yield* sql`
      INSERT INTO user_links (user_id, purpose, token_hash, expires_at)
      VALUES (
        ${user_id}, ${purpose}, ${hashLinkToken(ring, purpose, token)}, ${new Date(expiresAt)}
      )
      ON CONFLICT (user_id, purpose) DO UPDATE
      SET token_hash = EXCLUDED.token_hash, expires_at = EXCLUDED.expires_at`
    return Redacted.value(token)
  },
  Effect.provide(Secrets.layerFrom(testConfig.appSecret ?? Redacted.make("")))
)
