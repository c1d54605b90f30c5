import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, RateLimited } from "../shared/Errors.ts"
import { Authentication } from "./Authentication.ts"
import { InvalidCode, InvalidCredentials } from "./AuthErrors.ts"
import {
  RecoveryCodes,
  TotpConfirmation,
  TotpRemoval,
  TotpSecret,
  TotpStart,
  TotpStatus
} from "./Totp.ts"

export class TotpApi extends HttpApiGroup.make("totp")
  .add(
    HttpApiEndpoint.get("get", "/", { success: TotpStatus })
      .annotate(Access, Access.jwt)
      .annotateMerge(docs("Get your second factor", "Shows whether your logins require a code.")),

    HttpApiEndpoint.post("start", "/start", {
      payload: TotpStart,
      success: TotpSecret,
      error: [InvalidCredentials, Conflict, RateLimited]
    })
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Set up a second factor",
          "Creates a secret for an authenticator app. Logins require a code once you have confirmed the secret."
        )
      ),

    HttpApiEndpoint.post("confirm", "/confirm", {
      payload: TotpConfirmation,
      success: RecoveryCodes,
      error: [InvalidCode, Conflict, RateLimited]
    })
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Confirm a second factor",
          "Turns the second factor on with a code from the app. From then on, logins need `totp`. Only this response contains your recovery codes."
        )
      ),

    HttpApiEndpoint.delete("delete", "/", {
      payload: TotpRemoval,
      error: [InvalidCode, InvalidCredentials, Conflict, RateLimited]
    })
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Remove your second factor",
          "Turns the second factor off. Logins then need only the password."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/auth/totp")
  .annotateMerge(
    OpenApi.annotations({
      title: "Second factor",
      description: "Codes from an authenticator app (TOTP), which a login requires."
    })
  ) {}
