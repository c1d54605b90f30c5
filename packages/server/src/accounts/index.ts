/**
 * Users, sessions, passwords, second factors, service accounts, API keys, workspaces, their
 * members, and the audit log.
 */
import { Layer } from "effect"
import { AccountEvents } from "./AccountEvents.ts"
import { Accounts } from "./Accounts.ts"
import { AccountReclaims } from "./AccountReclaims.ts"
import { AccountReclaimsRepo } from "./AccountReclaimsRepo.ts"
import { ApiKeyRepo } from "./api-keys/ApiKeyRepo.ts"
import { ApiKeys } from "./api-keys/ApiKeys.ts"
import { ExpiringKeysLayer } from "./api-keys/ExpiringKeys.ts"
import { ExpiringKeysRepo } from "./api-keys/ExpiringKeysRepo.ts"
import { KeyUses } from "./api-keys/KeyUses.ts"
import { KeyUsesRepo } from "./api-keys/KeyUsesRepo.ts"
import { ApiKeysHandlers } from "./api-keys/http.ts"
import { AuditChain } from "./audit/AuditChain.ts"
import { AuditLog } from "./audit/AuditLog.ts"
import { ChangeLog } from "./audit/ChangeLog.ts"
import { Auth } from "./auth/Auth.ts"
import { AccountChangeMails } from "./auth/AccountChangeMails.ts"
import { ApiKeysRefusedLayer, AuthenticationLayer } from "./auth/Authentication.ts"
import { FirstAccount } from "./auth/FirstAccount.ts"
import { RequestRates } from "./auth/RequestRates.ts"
import { SignInMethodsOfAccount } from "./auth/SignInMethodsOfAccount.ts"
import { EmailLinks } from "./email/EmailLinks.ts"
import { emailLinkRoutesLayer } from "./email/linkRoutes.ts"
import { AuthHandlers, TotpHandlers } from "./http.ts"
import { Invitations } from "./members/Invitations.ts"
import { InvitationsRepo } from "./members/InvitationsRepo.ts"
import { Members } from "./members/Members.ts"
import { MembersRepo } from "./members/MembersRepo.ts"
import { InvitationsHandlers, MembersHandlers } from "./members/http.ts"
import { ClaimedRoles } from "./oidc/ClaimedRoles.ts"
import { IdentitiesRepo } from "./oidc/IdentitiesRepo.ts"
import { IdentityProvider } from "./oidc/IdentityProvider.ts"
import { LinkedAccounts } from "./oidc/LinkedAccounts.ts"
import { ProviderLogins } from "./oidc/ProviderLogins.ts"
import { ProviderSessions } from "./oidc/ProviderSessions.ts"
import { Challenges } from "./passkeys/Challenges.ts"
import { Passkeys } from "./passkeys/Passkeys.ts"
import { PasskeysRepo } from "./passkeys/PasskeysRepo.ts"
import { ProxyLogins } from "./proxy/ProxyLogins.ts"
import { PasswordResets } from "./passwords/PasswordResets.ts"
import { Passwords } from "./passwords/Passwords.ts"
import { Logins } from "./sessions/Logins.ts"
import { ServiceAccountsHandlers } from "./service-accounts/http.ts"
import { ServiceAccounts } from "./service-accounts/ServiceAccounts.ts"
import { ServiceAccountsRepo } from "./service-accounts/ServiceAccountsRepo.ts"
import { tokenRouteLayer } from "./service-accounts/tokenRoute.ts"
import { SignInLinks } from "./sessions/SignInLinks.ts"
import { SessionsRepo } from "./sessions/SessionsRepo.ts"
import { Tokens } from "./sessions/Tokens.ts"
import { Throttle } from "./throttle/Throttle.ts"
import { SecondFactors } from "./totp/SecondFactors.ts"
import { TotpRepo } from "./totp/TotpRepo.ts"
import { TotpSettings } from "./totp/TotpSettings.ts"
import { UserLinksRepo } from "./users/UserLinksRepo.ts"
import { UsersRepo } from "./users/UsersRepo.ts"
import { Workspaces } from "./workspaces/Workspaces.ts"
import { WorkspacesRepo } from "./workspaces/WorkspacesRepo.ts"
import { WorkspacesHandlers } from "./workspaces/http.ts"

export { AccountEvents } from "./AccountEvents.ts"
export { Accounts } from "./Accounts.ts"
export { authorize } from "./access/authorize.ts"
export { mayWrite } from "./access/mayWrite.ts"
export { AuditChain } from "./audit/AuditChain.ts"
export {
  type AccountAction,
  actorOfEvent,
  AuditLog,
  type AuditRow,
  toAuditEvent
} from "./audit/AuditLog.ts"
export {
  ChangeLog,
  changesOf,
  type RecordedDefinition,
  type RecordedKind,
  type DefinitionChange
} from "./audit/ChangeLog.ts"
export { makeNamedDefinitions } from "./audit/makeNamedDefinitions.ts"
export {
  type DefinitionColumns,
  namedDefinitionsRepo,
  type NamedDefinitionsRepo
} from "./audit/namedDefinitionsRepo.ts"
export { type Actor, currentActor } from "./audit/currentActor.ts"
export { withServiceAuthor, currentAuthor } from "./audit/currentAuthor.ts"
export { type VersionedRecords, versionHandlers } from "./audit/versionHandlers.ts"
export { Auth } from "./auth/Auth.ts"
export { type Denial, makeAccessCheck } from "./auth/Authentication.ts"
export { AccountChangeMails } from "./auth/AccountChangeMails.ts"
export { BootstrapLayer } from "./auth/Bootstrap.ts"
export { FirstAccount } from "./auth/FirstAccount.ts"
export { RequestRates } from "./auth/RequestRates.ts"
export { EmailLinks, emailToVerify } from "./email/EmailLinks.ts"
export type { SignInSecrets } from "./oidc/IdentityProvider.ts"
export { ProviderLogins } from "./oidc/ProviderLogins.ts"
export { SignInMethodsOfAccount } from "./auth/SignInMethodsOfAccount.ts"
export { Passkeys } from "./passkeys/Passkeys.ts"
export { ProxyLogins } from "./proxy/ProxyLogins.ts"
export { PasswordResets } from "./passwords/PasswordResets.ts"
export { operatorOrigin } from "./operatorOrigin.ts"
export { Logins } from "./sessions/Logins.ts"
export { SignInLinks } from "./sessions/SignInLinks.ts"
export { SessionsRepo } from "./sessions/SessionsRepo.ts"
export { Throttle } from "./throttle/Throttle.ts"
export { SecondFactors } from "./totp/SecondFactors.ts"
export { type AccountRow, type UserRow, UsersRepo } from "./users/UsersRepo.ts"
export { WorkspacesRepo } from "./workspaces/WorkspacesRepo.ts"
export { makeWorkspaceLock } from "./workspaces/makeWorkspaceLock.ts"

const Handlers = Layer.mergeAll(
  AuthHandlers,
  TotpHandlers,
  WorkspacesHandlers,
  MembersHandlers,
  InvitationsHandlers,
  ServiceAccountsHandlers,
  ApiKeysHandlers,
  tokenRouteLayer,
  emailLinkRoutesLayer
)

const PrivateRepositories = Layer.mergeAll(
  AccountReclaimsRepo.layer,
  IdentitiesRepo.layer,
  PasskeysRepo.layer,
  TotpRepo.layer,
  UserLinksRepo.layer,
  MembersRepo.layer,
  InvitationsRepo.layer,
  ServiceAccountsRepo.layer,
  ApiKeyRepo.layer,
  KeyUsesRepo.layer,
  ExpiringKeysRepo.layer
)

export const AccountsLayer = Layer.mergeAll(Handlers, ExpiringKeysLayer).pipe(
  Layer.provideMerge(Layer.mergeAll(AuthenticationLayer, ApiKeysRefusedLayer)),
  Layer.provideMerge(
    Layer.mergeAll(
      ProviderLogins.layer,
      ProxyLogins.layer,
      Passkeys.layer,
      SignInLinks.layer,
      SignInMethodsOfAccount.layer
    )
  ),
  Layer.provide([Challenges.layer, LinkedAccounts.layer]),
  Layer.provideMerge(
    Layer.mergeAll(Accounts.layer, FirstAccount.layer, PasswordResets.layer, Auth.layer)
  ),
  Layer.provide([TotpSettings.layer, Invitations.layer, ServiceAccounts.layer]),
  Layer.provideMerge(ApiKeys.layer),
  Layer.provideMerge(Layer.mergeAll(EmailLinks.layer, Logins.layer)),
  Layer.provide([ProviderSessions.layer, Workspaces.layer, Members.layer]),
  Layer.provide(ClaimedRoles.layer),
  Layer.provide(AccountReclaims.layer),
  Layer.provideMerge(
    Layer.mergeAll(SecondFactors.layer, AuditChain.layer, AccountChangeMails.layer)
  ),
  Layer.provide([Passwords.layer, Tokens.layer, KeyUses.layer, IdentityProvider.layer]),
  Layer.provideMerge(ChangeLog.layer),
  Layer.provideMerge(
    Layer.mergeAll(AccountEvents.layer, Throttle.layer, RequestRates.layer, AuditLog.layer)
  ),
  Layer.provideMerge(Layer.mergeAll(UsersRepo.layer, SessionsRepo.layer, WorkspacesRepo.layer)),
  Layer.provide(PrivateRepositories)
)
