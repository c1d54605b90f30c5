import { Redacted } from "effect"
import { makeSecrets } from "../../src/core/Secrets.ts"

/** The `APP_SECRET` for all nodes in tests that do not set another secret. */
export const testSecret = Redacted.make("a secret for tests, thirty-two bytes and more")

/** Returns the value by which the database recognizes a secret. */
export const checkValueOf = (secret: Redacted.Redacted): string =>
  makeSecrets([secret]).keys("check")[0].id
