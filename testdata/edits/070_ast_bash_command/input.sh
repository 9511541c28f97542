#!/bin/bash
rm -rf build
echo "rm -rf build"
