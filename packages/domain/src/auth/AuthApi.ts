import { Redacted, Schema } from "effect"
import { label } from "../shared/Text.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound, RateLimited } from "../shared/Errors.ts"
import { inPath, SessionId } from "../shared/Ids.ts"
import { LinkToken } from "../shared/LinkToken.ts"
import { Location } from "../shared/Location.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import { Workspace } from "../workspaces/Workspace.ts"
import { ApiKeysRefused, Authentication } from "./Authentication.ts"
import {
  EmailTaken,
  InvalidCode,
  InvalidCredentials,
  InvalidLink,
  InvalidRefreshToken,
  RegistrationClosed,
  TotpRequired
} from "./AuthErrors.ts"
import { Session } from "./Session.ts"
import { TotpCode } from "./Totp.ts"
import { RefreshToken, TokenPair } from "./TokenPair.ts"
import { Email } from "./emailAddress.ts"
import { NewPassword, Password, User, UserUpdate } from "./User.ts"

const Registration = Schema.Struct({
  email: Email,
  password: NewPassword,
  name: Schema.optionalKey(label(100, { description: "Your name.", examples: ["Ada Lovelace"] }))
}).annotate({ identifier: "Registration" })

const Registered = Schema.Struct({
  user: User,
  workspace: Workspace
}).annotate({
  identifier: "Registered",
  description: "The account, and its first workspace."
})

export const Login = Schema.Struct({
  email: Email,
  password: Password,
  totp: Schema.optionalKey(TotpCode)
}).annotate({
  identifier: "Login",
  description: "`totp` is needed by accounts that have a second factor.",
  examples: [
    {
      email: "ada@example.com",
      password: Redacted.make("correct horse battery staple", { label: "password" })
    }
  ]
})

const Refresh = Schema.Struct({ refresh_token: RefreshToken }).annotate({ identifier: "Refresh" })

export const PasswordChange = Schema.Struct({
  current_password: Password,
  new_password: NewPassword
}).annotate({ identifier: "PasswordChange" })

const PasswordResetRequest = Schema.Struct({ email: Email }).annotate({
  identifier: "PasswordResetRequest"
})

const PasswordReset = Schema.Struct({ token: LinkToken, new_password: NewPassword }).annotate({
  identifier: "PasswordReset"
})

const EmailVerification = Schema.Struct({ token: LinkToken }).annotate({
  identifier: "EmailVerification"
})

const AccountDeletion = Schema.Struct({ current_password: Password }).annotate({
  identifier: "AccountDeletion"
})

const publicEndpoints = HttpApiGroup.make("auth").add(
  HttpApiEndpoint.post("register", "/register", {
    payload: Registration,
    success: Registered.pipe(HttpApiSchema.status(201)),
    error: [EmailTaken, RegistrationClosed, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotate(Location, "/v1/auth/me")
    .annotateMerge(
      docs("Register", "Creates an account and its first workspace. Log in to get a token pair.")
    ),

  HttpApiEndpoint.post("login", "/login", {
    payload: Login,
    success: TokenPair,
    error: [InvalidCredentials, TotpRequired, InvalidCode, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Log in",
        "Starts a session. An account has at most 200: one more ends the session that was unused for longest. After 10 failures for an account, or 50 from an address, within 15 minutes, the answer is 429."
      )
    ),

  HttpApiEndpoint.post("refresh", "/refresh", {
    payload: Refresh,
    success: TokenPair,
    error: InvalidRefreshToken
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Refresh the tokens",
        "Gives a new pair. A refresh token works once. If it is used again after 10 seconds, the session ends, because somebody else may hold the token."
      )
    ),

  HttpApiEndpoint.post("forgotPassword", "/password/forgot", {
    payload: PasswordResetRequest,
    error: [Conflict, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Ask for a new password",
        "Sends a token by mail if the account exists. The answer is the same if it does not. If the server sends no mail, the answer is 409, and its operator can make a token."
      )
    ),

  HttpApiEndpoint.post("resetPassword", "/password/reset", {
    payload: PasswordReset,
    error: [InvalidLink, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Set a new password",
        "With a token that is an hour old at most, once. Every session of the account ends; a second factor stays. " +
          "If the token came by mail and nobody had verified the email, it is verified now, and what was set up " +
          "before goes: the second factor, and in workspaces that nobody else owns the API keys, the tokens of " +
          "workers, other members and invitations."
      )
    ),

  HttpApiEndpoint.post("verifyEmail", "/email/verify", {
    payload: EmailVerification,
    error: [EmailTaken, InvalidLink, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Verify an email",
        "Takes the token of the link that was sent there, valid once and for a week. A new email replaces the old one. Email channels to the address are confirmed in all workspaces of the account."
      )
    )
)

export class AuthApi extends publicEndpoints
  .middleware(ApiKeysRefused)
  .add(
    HttpApiEndpoint.post("logout", "/logout")
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Log out",
          "Ends the session of the access token: its access and refresh tokens stop working at once."
        )
      ),

    HttpApiEndpoint.get("me", "/me", { success: User })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(docs("Get your account", "The account that the access token belongs to.")),

    HttpApiEndpoint.patch("updateMe", "/me", {
      payload: UserUpdate,
      success: User,
      error: [EmailTaken, InvalidCredentials, RateLimited]
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Change your account",
          "Changes the name or the email. A new email needs the current password, and takes effect when the link that is sent there is opened: until then it is the `pending_email`. Where the server sends no mail, its operator can make a token."
        )
      ),

    HttpApiEndpoint.post("resendEmailLink", "/email/resend", {
      error: [Conflict, RateLimited]
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Send the link for your email again",
          "To the `pending_email`, or to an email that is not verified yet. Earlier links end. 409 if nothing waits for a link, or the server sends no mail."
        )
      ),

    HttpApiEndpoint.delete("removeMe", "/me", {
      payload: AccountDeletion,
      error: [InvalidCredentials, RateLimited]
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Delete your account",
          "Deletes the account and every workspace of which it is the only owner, with all their contents."
        )
      ),

    HttpApiEndpoint.post("changePassword", "/password", {
      payload: PasswordChange,
      success: TokenPair,
      error: [InvalidCredentials, RateLimited]
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Change your password",
          "Ends every session of the account, including this one, whose tokens stop working at once. The answer is the token pair of a new session."
        )
      ),

    HttpApiEndpoint.get("sessions", "/sessions", {
      query: PageQuery,
      success: Page("SessionPage", Session)
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs("List your sessions", "The places where the account is logged in, newest first.")
      ),

    HttpApiEndpoint.delete("removeSession", "/sessions/:session_id", {
      params: { session_id: inPath(SessionId) },
      error: NotFound
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(docs("End a session", "Logs out one of your sessions on any device."))
  )
  .prefix("/v1/auth")
  .annotateMerge(
    OpenApi.annotations({
      title: "Accounts and sessions",
      description: "Accounts, logins and sessions. API keys are refused on all of these."
    })
  ) {}
