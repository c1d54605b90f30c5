import { Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { expiredLinkPage, linkPage, requestOrigin } from "../../http/index.ts"
import { EmailLinks } from "./EmailLinks.ts"
import { verificationPath } from "./emailMails.ts"

export const emailLinkRoutesLayer: Layer.Layer<never, never, EmailLinks | HttpRouter.HttpRouter> =
  Layer.unwrap(
    Effect.gen(function* () {
      const links = yield* EmailLinks
      const readToken = Effect.map(HttpRouter.params, ({ token = "" }) =>
        Redacted.make(token, { label: "token" })
      )
      return Layer.mergeAll(
        HttpRouter.add(
          "GET",
          `${verificationPath}/:token`,
          Effect.map(Effect.flatMap(readToken, links.find), (user) =>
            Option.isNone(user)
              ? expiredLinkPage
              : linkPage("Is this the email address of your account?", "Yes, it is mine")
          )
        ),
        HttpRouter.add(
          "POST",
          `${verificationPath}/:token`,
          Effect.gen(function* () {
            return yield* links.use(yield* readToken, yield* requestOrigin)
          }).pipe(
            Effect.as(linkPage("Your email address is verified.")),
            Effect.catchTags({
              InvalidLink: () => Effect.succeed(expiredLinkPage),
              EmailTaken: () =>
                Effect.succeed(
                  linkPage("This email address now belongs to another account.", undefined, 409)
                ),
              RateLimited: () =>
                Effect.succeed(
                  linkPage("Too many attempts. Try again in 15 minutes.", undefined, 429)
                )
            })
          )
        )
      )
    })
  )
