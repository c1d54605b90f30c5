import { Redacted } from "effect"
import { makeSecrets } from "../../src/core/Secrets.ts"

/** The `APP_SECRET` of all nodes in tests, unless a test is about another one. */
export const testSecret = Redacted.make("a secret for tests, thirty-two bytes and more")

/** What the database keeps of a secret, to compare. */
export const checkValueOf = (secret: Redacted.Redacted): string =>
  makeSecrets([secret]).keys("check")[0].id
