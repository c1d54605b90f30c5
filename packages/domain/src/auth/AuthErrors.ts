import { Scope } from "../api-keys/Scope.ts"
import { Role } from "../members/Role.ts"
import { ApiError } from "../shared/Errors.ts"

const article = (role: Role) => `${/^[aeo]/.test(role) ? "an" : "a"} ${role}`

const challenge = () => ({ "www-authenticate": "Bearer" })
const rejected = () => ({ "www-authenticate": 'Bearer error="invalid_token"' })

export class MissingCredentials extends ApiError<MissingCredentials>()("MissingCredentials", {
  status: 401,
  code: "missing_credentials",
  message:
    "The request has no valid credential. Send the header `Authorization: Bearer <access token or API key>`.",
  headers: challenge
}) {}

export class InvalidToken extends ApiError<InvalidToken>()("InvalidToken", {
  status: 401,
  code: "invalid_token",
  message:
    "The access token is not valid or has expired. Log in again, or refresh it. An API key is sent as `Bearer pak_…`.",
  headers: rejected
}) {}

export class InvalidApiKey extends ApiError<InvalidApiKey>()("InvalidApiKey", {
  status: 401,
  code: "invalid_api_key",
  message: "The API key is unknown, revoked or expired.",
  headers: rejected
}) {}

export class InvalidCredentials extends ApiError<InvalidCredentials>()("InvalidCredentials", {
  status: 401,
  code: "invalid_credentials",
  message: "The email or the password is wrong.",
  headers: challenge
}) {}

export class TotpRequired extends ApiError<TotpRequired>()("TotpRequired", {
  status: 401,
  code: "totp_required",
  message: "This account has a second factor. Send its current code in the field `totp`.",
  headers: challenge
}) {}

export class InvalidCode extends ApiError<InvalidCode>()("InvalidCode", {
  status: 401,
  code: "invalid_code",
  message: "The code is wrong, too old or already used. Wait for the next one.",
  headers: challenge
}) {}

export class InvalidLink extends ApiError<InvalidLink>()("InvalidLink", {
  status: 401,
  code: "invalid_link",
  message: "The token is not valid, has expired or was already used. Request a new one.",
  headers: challenge
}) {}

export class InvalidRefreshToken extends ApiError<InvalidRefreshToken>()("InvalidRefreshToken", {
  status: 401,
  code: "invalid_refresh_token",
  message: "The refresh token is not valid, has expired or was already used. Log in again.",
  headers: rejected
}) {}

export class InsufficientScope extends ApiError<InsufficientScope>()("InsufficientScope", {
  status: 403,
  code: "insufficient_scope",
  message: ({ required_scope }) => `This API key lacks the scope ${required_scope}.`,
  fields: { required_scope: Scope },
  headers: ({ required_scope }) => ({
    "www-authenticate": `Bearer error="insufficient_scope", scope="${required_scope}"`
  })
}) {}

export class JwtOnly extends ApiError<JwtOnly>()("JwtOnly", {
  status: 403,
  code: "jwt_only",
  message: "API keys cannot do this. Use the access token of a user."
}) {}

export class PersonOnly extends ApiError<PersonOnly>()("PersonOnly", {
  status: 403,
  code: "person_only",
  message: "Service accounts cannot do this. Use the access token of a person."
}) {}

export class WorkspaceForbidden extends ApiError<WorkspaceForbidden>()("WorkspaceForbidden", {
  status: 403,
  code: "workspace_forbidden",
  message: "This API key belongs to another workspace."
}) {}

export class Forbidden extends ApiError<Forbidden>()("Forbidden", {
  status: 403,
  code: "forbidden",
  message: ({ required_role }) => `Only ${article(required_role)} of this workspace may do this.`,
  fields: { required_role: Role }
}) {}

export class RegistrationClosed extends ApiError<RegistrationClosed>()("RegistrationClosed", {
  status: 403,
  code: "registration_closed",
  message: "Registration is closed on this server. Ask the operator for an account."
}) {}

export class PasswordLoginOff extends ApiError<PasswordLoginOff>()("PasswordLoginOff", {
  status: 403,
  code: "password_login_off",
  message:
    "Sign-in with passwords is turned off on this server. Sign in another way, on the sign-in page of the control panel."
}) {}

export class EmailTaken extends ApiError<EmailTaken>()("EmailTaken", {
  status: 409,
  code: "email_taken",
  message: "An account with this email already exists."
}) {}
