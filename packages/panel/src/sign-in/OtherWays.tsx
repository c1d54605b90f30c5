import type { SignInOptions } from "@scheduling/sdk"
import { PasskeyButton, supportsPasskeys } from "./PasskeyButton.tsx"
import { ProviderButton } from "./ProviderButton.tsx"

/** The ways to sign in without a password. */
export const OtherWays = ({
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
  if (options === undefined || (options.provider === null && !hasPasskeys)) return null
  return (
    <div className="mb-5 flex flex-col gap-3 border-b border-line pb-5">
      {options.provider !== null && (
        <ProviderButton name={options.provider.name} next={next} problem={problem} />
      )}
      {hasPasskeys && <PasskeyButton onSignedIn={onSignedIn} />}
    </div>
  )
}
