import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound, RateLimited } from "../shared/Errors.ts"
import { inPath, SessionId } from "../shared/Ids.ts"
import { Page, PageQuery } from "../shared/Page.ts"
import { Workspace } from "../workspaces/Workspace.ts"
import { ApiKeysRefused, Authentication } from "./Authentication.ts"
import {
  EmailTaken,
  InvalidCredentials,
  InvalidRefreshToken,
  RegistrationClosed
} from "./AuthErrors.ts"
import { Session } from "./Session.ts"
import { RefreshToken, TokenPair } from "./TokenPair.ts"
import { Email, NewPassword, Password, User, UserName, UserUpdate } from "./User.ts"

const Registration = Schema.Struct({
  email: Email,
  password: NewPassword,
  name: Schema.optionalKey(UserName)
}).annotate({ identifier: "Registration" })

const Registered = Schema.Struct({ user: User, workspace: Workspace }).annotate({
  identifier: "Registered"
})

const Login = Schema.Struct({ email: Email, password: Password }).annotate({ identifier: "Login" })

const Refresh = Schema.Struct({ refresh_token: RefreshToken }).annotate({ identifier: "Refresh" })

const PasswordChange = Schema.Struct({
  current_password: Password,
  new_password: NewPassword
}).annotate({ identifier: "PasswordChange" })

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
    .annotateMerge(
      docs("Register", "Makes an account and its first workspace. Log in to get a token pair.")
    ),

  HttpApiEndpoint.post("login", "/login", {
    payload: Login,
    success: TokenPair,
    error: [InvalidCredentials, RateLimited]
  })
    .annotate(Access, Access.public)
    .annotateMerge(
      docs(
        "Log in",
        "Starts a session; of more than 200 the one that was unused for longest ends. After 10 failures for an account, or 50 from an address, within 15 minutes it answers 429."
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
        "Gives a new pair. A refresh token works once; used again after 10 seconds it ends the session, because somebody else may hold it."
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
        docs("Log out", "Ends this session: its access and refresh tokens stop working at once.")
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
          "Changes the name or the email; a new email needs the current password."
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
          "Deletes the account and every workspace that it alone owns, with all they hold."
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
          "Every session of the account ends, this one too: its tokens stop working at once. The answer is the token pair of a new session."
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
      .annotateMerge(docs("End a session", "Logs one of your sessions out, wherever it is."))
  )
  .prefix("/v1/auth")
  .annotateMerge(
    OpenApi.annotations({
      title: "Accounts and sessions",
      description: "Accounts, logins and sessions. API keys are refused on all of these."
    })
  ) {}
