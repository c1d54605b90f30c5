import type { SignInOptions } from "@scheduling/sdk"
import { PasskeyButton, supportsPasskeys } from "./PasskeyButton.tsx"
import { ProxyButton } from "./ProxyButton.tsx"
import { ProviderButton } from "./ProviderButton.tsx"

/** The sign-in methods that need no password. */
export const OtherSignInMethods = ({
  next,
  onSignedIn,
  options,
  problem
}: {
  readonly options: SignInOptions | undefined
  readonly next: string | undefined
  readonly problem: string | undefined
  readonly onSignedIn: () => unknown
}) => {
  const hasPasskeys = options?.passkey === true && supportsPasskeys
  if (options === undefined || (options.provider === null && !options.proxy && !hasPasskeys))
    return null
  return (
    <div
      className={`flex flex-col gap-3 ${options.password ? "mb-5 border-b border-line pb-5" : ""}`}
    >
      {options.proxy && <ProxyButton onSignedIn={onSignedIn} />}
      {options.provider !== null && (
        <ProviderButton name={options.provider.name} next={next} problem={problem} />
      )}
      {hasPasskeys && <PasskeyButton onSignedIn={onSignedIn} />}
    </div>
  )
}
