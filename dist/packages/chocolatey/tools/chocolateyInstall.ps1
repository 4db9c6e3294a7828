$ErrorActionPreference = "Stop"
Install-ChocolateyPackage -PackageName "winjoin" -FileType "msi" -SilentArgs "/qn /norestart" -Url64bit "@MSI_URL@" -Checksum64 "@MSI_SHA256@" -ChecksumType64 "sha256"
