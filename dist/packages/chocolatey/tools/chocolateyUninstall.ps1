$ErrorActionPreference = "Stop"
Uninstall-ChocolateyPackage -PackageName "winjoin" -FileType "msi" -SilentArgs "@PRODUCT_CODE@ /qn /norestart" -ValidExitCodes @(0, 1605, 3010)
