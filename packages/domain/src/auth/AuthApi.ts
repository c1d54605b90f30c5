import { Redacted, Schema } from "effect"
import { label } from "../shared/Text.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound, RateLimited } from "../shared/Errors.ts"
import { idInPath, SessionId } from "../shared/Ids.ts"
import { LinkToken } from "../shared/LinkToken.ts"
import { CreatedRecordPath } from "../shared/CreatedRecordPath.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import { Workspace } from "../workspaces/Workspace.ts"
import { ApiKeysRefused, Authentication } from "./Authentication.ts"
import {
  EmailTaken,
  InvalidCode,
  InvalidCredentials,
  InvalidLink,
  InvalidRefreshToken,
  PasswordLoginOff,
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
  description: "`totp` is required for accounts with a second factor.",
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

const AccountDeletion = Schema.Struct({
  current_password: Schema.optionalKey(Password)
}).annotate({
  identifier: "AccountDeletion",
  description: "`current_password` is required if the account has a password."
})

const SignInOptions = Schema.Struct({
  password: Schema.Boolean.annotate({
    description: "True if accounts can sign in with a password.",
    examples: [true]
  }),
  passkey: Schema.Boolean.annotate({
    description: "True if accounts can have passkeys.",
    examples: [true]
  }),
  provider: Schema.NullOr(
    Schema.Struct({
      name: Schema.String.annotate({
        description: "The name of the identity provider.",
        examples: ["Keycloak"]
      })
    })
  ).annotate({
    description: "The identity provider (OpenID Connect). Null if there is none.",
    examples: [{ name: "Keycloak" }]
  }),
  proxy: Schema.Boolean.annotate({
    description: "True if an authenticating proxy in front of this server signs people in.",
    examples: [false]
  })
}).annotate({
  identifier: "SignInOptions",
  description: "The ways to sign in to the control panel of this server."
})

const publicEndpoints = HttpApiGroup.make("auth").add(
  HttpApiEndpoint.get("getOptions", "/options", { success: SignInOptions })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs("Get the ways to sign in", "Shows how people can sign in to the control panel.")
    ),

  HttpApiEndpoint.post("register", "/register", {
    payload: Registration,
    success: Registered.pipe(HttpApiSchema.status(201)),
    error: [EmailTaken, PasswordLoginOff, RegistrationClosed, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotate(CreatedRecordPath, "/v1/auth/me")
    .annotateMerge(
      docs("Register", "Creates an account and its first workspace. Log in to get a token pair.")
    ),

  HttpApiEndpoint.post("login", "/login", {
    payload: Login,
    success: TokenPair,
    error: [InvalidCredentials, TotpRequired, InvalidCode, PasswordLoginOff, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Log in",
        "Starts a session. An account has at most 200 sessions: a further login ends the least recently used session. After 10 failed logins for an account, or 50 from an IP address, within 15 minutes, the response is 429."
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
        "Returns a new token pair. A refresh token works once. If it is reused more than 10 seconds later, the session ends, because the token may have been stolen."
      )
    ),

  HttpApiEndpoint.post("forgotPassword", "/password/forgot", {
    payload: PasswordResetRequest,
    error: [Conflict, PasswordLoginOff, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Request a password reset",
        "Mails a token if the account exists. The response does not reveal whether it does. If the server sends no mail, the response is 409, and the operator can create a token."
      )
    ),

  HttpApiEndpoint.post("resetPassword", "/password/reset", {
    payload: PasswordReset,
    error: [InvalidLink, PasswordLoginOff, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Set a new password",
        "The token works once and expires after an hour. All sessions of the account end; a second factor remains. " +
          "If the token was mailed to an unverified email address, the address becomes verified and the second factor is removed. In workspaces without another owner, the API keys, worker tokens, other members, service accounts and invitations are removed too."
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
        "Uses the token from the mailed link. The token works once and expires after a week. A new email replaces the old one. Email channels to the address are confirmed in all workspaces of the account."
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
          "Ends the session of the access token. Its access and refresh tokens stop working immediately."
        )
      ),

    HttpApiEndpoint.get("getMe", "/me", { success: User })
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
          "Changes the name or the email. A new email requires the current password, or a sign-in within the last 10 minutes if the account has none or passwords are turned off on the server. The new email is the `pending_email` until the mailed link is opened. If the server sends no mail, the operator can create a token."
        )
      ),

    HttpApiEndpoint.post("resendEmailLink", "/email/resend", {
      error: [Conflict, RateLimited]
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Resend the email verification link",
          "Mails a new link to the `pending_email`, or to an unverified email. Earlier links stop working. The response is 409 if there is no email to verify, or if the server sends no mail."
        )
      ),

    HttpApiEndpoint.delete("deleteMe", "/me", {
      payload: AccountDeletion,
      error: [InvalidCredentials, RateLimited]
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Delete your account",
          "Deletes the account and every workspace that it alone owns, with all their contents. This requires the current password, or a sign-in within the last 10 minutes if the account has none or passwords are turned off on the server."
        )
      ),

    HttpApiEndpoint.post("changePassword", "/password", {
      payload: PasswordChange,
      success: TokenPair,
      error: [InvalidCredentials, PasswordLoginOff, RateLimited]
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Change your password",
          "Ends all sessions of the account, including this one, and revokes their tokens immediately. Returns the token pair of a new session."
        )
      ),

    HttpApiEndpoint.get("listSessions", "/sessions", {
      query: PageQuery,
      success: Page("SessionPage", Session)
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(docs("List your sessions", "The sessions of the account, newest first.")),

    HttpApiEndpoint.delete("deleteSession", "/sessions/:session_id", {
      params: { session_id: idInPath(SessionId) },
      error: NotFound
    })
      .middleware(Authentication)
      .annotate(Access, Access.jwt)
      .annotateMerge(docs("End a session", "Ends one of your sessions, on any device."))
  )
  .prefix("/v1/auth")
  .annotateMerge(
    OpenApi.annotations({
      title: "Accounts and sessions",
      description: "Accounts, logins and sessions. These endpoints reject API keys."
    })
  ) {}
